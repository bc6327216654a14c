// Reads text/event-stream as it comes in, in whatever pieces: what is not whole yet is not given out.

interface StreamMessage {
  /** Of the newest `id:` line so far; a message without one keeps that of the one before it. */
  id: string | undefined;
  data: string;
}

/** Contract: `take` gets each piece in order and gives the messages that are whole with it. */
export interface StreamReader {
  take(piece: string): StreamMessage[];
}

export function createStreamReader(since?: string): StreamReader {
  let rest = "";
  let id = since;
  let next = since;
  let data: string[] = [];
  const line = (text: string): StreamMessage | undefined => {
    if (text === "") {
      // An id counts once its message is whole: a stream cut between the two asks for that message again.
      id = next;
      if (data.length === 0) return undefined;
      const message = { id, data: data.join("\n") };
      data = [];
      return message;
    }
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") data.push(value);
    if (name === "id") next = value;
    return undefined;
  };
  return {
    take(piece) {
      rest += piece;
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      return lines.flatMap((text) => line(text.endsWith("\r") ? text.slice(0, -1) : text) ?? []);
    },
  };
}
