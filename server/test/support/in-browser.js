// What a visitor sees, measured inside the browser: overflow, contrast, and what has the focus. Put into each page before
// its own content, as `looks`.

globalThis.looks = {
  /** Elements that stick out of the window, so that it would be scrolled sideways; regions that scroll by themselves may hold them. */
  stickingOut() {
    const { clientWidth, scrollWidth } = document.documentElement;
    const all = [...document.querySelectorAll('body *')].filter((element) => {
      if (element.closest('.scroll, .skip, thead, svg') !== null) return false;
      if (element.parentElement.closest('.clip') !== null) return false; // a long name ends with an ellipsis
      const { left, right, width } = element.getBoundingClientRect();
      return width > 0 && (right > clientWidth + 0.5 || left < -0.5);
    });
    const names = all.map((element) => `${element.tagName} ${element.className}: ${element.textContent.slice(0, 40)}`);
    return scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`, ...names] : names;
  },

  /** The contrast (WCAG 2) of each shown text with what is behind it, and of each part of a drawing. */
  contrasts() {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const text = walker.currentNode.textContent.trim();
      if (text === '' || !element.checkVisibility() || element.closest('svg') !== null) continue;
      found.push(comparison('text', text.slice(0, 40), getComputedStyle(element).color, groundOf(element)));
    }
    for (const field of document.querySelectorAll('input:not([type=hidden]), select')) {
      const { color, borderTopColor } = getComputedStyle(field);
      found.push(comparison('text', field.name, color, groundOf(field)));
      found.push(comparison('drawing', `border of ${field.name}`, borderTopColor, groundOf(field.parentElement)));
    }
    for (const part of document.querySelectorAll('rect.succeeded, rect.failed, rect.none')) {
      found.push(comparison('drawing', part.className.baseVal, getComputedStyle(part).fill, groundOf(part)));
    }
    for (const part of document.querySelectorAll('.quota .used')) {
      const ground = getComputedStyle(part.parentElement.querySelector('.all')).fill;
      found.push(comparison('drawing', 'quota', getComputedStyle(part).fill, ground));
    }
    return found;
  },

  /** What the keyboard would act on, and how that shows. */
  focused() {
    const element = document.activeElement;
    if (element === null || element === document.body) return undefined;
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
    const { top, bottom, width, height } = element.getBoundingClientRect();
    return {
      name: element.id || element.textContent.trim().slice(0, 40) || element.className,
      outline: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth),
      contrast: comparison('drawing', 'focus', outlineColor, groundOf(element.parentElement)).ratio,
      inView: width > 0 && height > 0 && bottom > 0 && top < innerHeight,
    };
  },
};

function comparison(kind, what, color, ground) {
  const [light, dark] = [luminance(color), luminance(ground)].sort((a, b) => b - a);
  return { kind, what, ratio: (light + 0.05) / (dark + 0.05), color, ground };
}

function luminance(color) {
  const [red, green, blue] = channels(color).map((value) =>
    value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The colour behind an element's own content. */
function groundOf(element) {
  if (element === null) return 'white';
  const { backgroundColor } = getComputedStyle(element);
  return channels(backgroundColor)[3] === 1 ? backgroundColor : groundOf(element.parentElement);
}

/** Red, green, blue and how opaque, from 0 to 1; the browser itself reads whatever way a colour is written in. */
function channels(color) {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].map((value) => value / 255);
}
