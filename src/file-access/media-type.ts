// What bytes are, of what models can be shown: by their beginning.

/** Providers take no larger ones: a conversation that holds one is refused from then on. */
export const MAX_IMAGE_BYTES = 3_750_000;

/** By content: a name, or whoever sends it, may lie. */
export function mediaTypeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "image/webp";
  if (head.startsWith("%PDF-")) return "application/pdf";
  return undefined;
}
