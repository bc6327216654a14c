// Requests to servers over HTTP: an answer without end is given up, like a line without end of a process.

/** One answer, or one event of a stream. */
const MOST_BYTES = 64 << 20;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Contract: reading fails where an answer, or an event of a stream, is larger than `most`; a stream of many small events may go on for ever. */
export const boundedFetch =
  (most = MOST_BYTES): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
    const bounded = new Response(response.body.pipeThrough(boundary(most, isStream)), { status, statusText, headers });
    Object.defineProperty(bounded, "url", { value: response.url });
    return bounded;
  };

function boundary(most: number, isStream: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  let last = 0;
  return new TransformStream({
    transform(chunk, to) {
      const end = isStream ? endOfEvent(chunk, last) : -1;
      size = end < 0 ? size + chunk.length : chunk.length - end;
      last = chunk.at(-1) ?? last;
      if (size > most) to.error(new Error(`it sent more than ${most >> 20} MB without an end`));
      else to.enqueue(chunk);
    },
  });
}

const [NEWLINE, RETURN] = [10, 13];

/** Behind the last empty line. `before`: the byte in front of the chunk. */
function endOfEvent(chunk: Uint8Array, before: number): number {
  for (let at = chunk.length - 1; at >= 0; at--) {
    const byte = chunk[at];
    if (byte !== NEWLINE && byte !== RETURN) continue;
    const one = at > 0 ? chunk[at - 1] : before;
    const isCrLf = byte === NEWLINE && one === RETURN;
    const two = at > 1 ? chunk[at - 2] : before;
    if (one === byte || (isCrLf && two === NEWLINE)) return at + 1;
  }
  return -1;
}
