/** The message of an error as a whole sentence, for warnings and findings. */
export function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
