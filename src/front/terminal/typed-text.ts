// What a key types, if it types anything.
import { decodePrintableKey } from "@earendil-works/pi-tui/dist/keys.js";

/** Undefined: it is a key with a meaning of its own, such as an arrow. */
export function typedText(data: string): string | undefined {
  const decoded = decodePrintableKey(data);
  if (decoded !== undefined) return decoded;
  return data !== "" && !/[\u0000-\u001f\u007f-\u009f]/.test(data) ? data : undefined;
}
