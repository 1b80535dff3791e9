/**
 * Reads manifests as Java does (java.util.jar.Manifest), many in one JVM: each line of the file is one in hexadecimal. Of
 * each it says, tab separated, with names and values in hexadecimal: its number and `refused`, `main`, `section` or
 * `attribute`.
 */

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import java.util.logging.LogManager;

final class ManifestReader {
  private static final StringBuilder OUT = new StringBuilder();
  private static final String DIGITS = "0123456789abcdef";

  public static void main(String[] arguments) throws IOException {
    // Of duplicate attributes it would speak on standard error.
    LogManager.getLogManager().reset();
    int number = 0;
    for (String line : Files.readAllLines(Paths.get(arguments[0]))) read(number++, bytes(line));
    System.out.print(OUT);
  }

  private static void read(int number, byte[] bytes) {
    Manifest manifest;
    try {
      manifest = new Manifest(new ByteArrayInputStream(bytes));
    } catch (IOException | RuntimeException refusal) {
      say(number, "refused", String.valueOf(refusal.getMessage()));
      return;
    }
    say(number, "read");
    for (Map.Entry<Object, Object> attribute : manifest.getMainAttributes().entrySet()) {
      say(number, "main", attribute.getKey().toString(), attribute.getValue().toString());
    }
    for (Map.Entry<String, Attributes> section : manifest.getEntries().entrySet()) {
      say(number, "section", section.getKey());
      for (Map.Entry<Object, Object> attribute : section.getValue().entrySet()) {
        say(number, "attribute", section.getKey(), attribute.getKey().toString(), attribute.getValue().toString());
      }
    }
  }

  private static void say(int number, String what, String... values) {
    OUT.append(number).append('\t').append(what);
    for (String value : values) OUT.append('\t').append(hexadecimal(value.getBytes(StandardCharsets.UTF_8)));
    OUT.append('\n');
  }

  private static byte[] bytes(String hexadecimal) {
    byte[] bytes = new byte[hexadecimal.length() / 2];
    for (int index = 0; index < bytes.length; index++) {
      bytes[index] = (byte) Integer.parseInt(hexadecimal.substring(2 * index, 2 * index + 2), 16);
    }
    return bytes;
  }

  private static String hexadecimal(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte each : bytes) text.append(DIGITS.charAt((each >> 4) & 15)).append(DIGITS.charAt(each & 15));
    return text.toString();
  }
}
