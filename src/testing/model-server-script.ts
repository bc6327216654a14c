// The language of scripts for the model server: what each round says, and what goes wrong with it on which attempt.
import type { ProviderName } from "./model-server-providers.ts";

export interface ScriptCall {
  name: string;
  input?: unknown;
  /** The arguments as they go over the wire, where they shall not be JSON. */
  raw?: string;
  id?: string;
}

export interface ScriptRound {
  text?: string;
  reasoning?: string | { text: string; signature?: string } | { redacted: string };
  calls?: ScriptCall[];
  /** What a message says of itself; only in the Responses format. */
  phase?: "commentary" | "final_answer";
  usage?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number };
  /** What an evaluator says of a goal after this round, where the script is a list matched by rounds. */
  verdict?: string;
  /** By the presence of calls unless given. `length` with a cut text or a call's `raw` plays a reply that hit its limit. */
  finish?: "stop" | "calls" | "length" | "refused";
  /** Into how many pieces a text is streamed; 3 unless given. */
  pieces?: number;
  /** Waits this long before each chunk. */
  chunkDelayMs?: number;
  /** Answers a streaming request with one JSON body. */
  whole?: boolean;
  /** Streamed as they are, instead of what the rest of the round says. */
  chunks?: string[];
  /** What goes wrong on the first, second, … attempt at this round; null and past the end: nothing. */
  faults?: (Fault | null)[];
}

export type Fault =
  /** Answered with this status; `message` and `type` go into the provider's error body. */
  | {
      status: number;
      message?: string;
      type?: string;
      code?: string;
      param?: string;
      headers?: Record<string, string>;
      body?: string;
    }
  /** Sends this many chunks, then nothing more, and keeps the connection open. */
  | { stallAt: number }
  /** Sends this many chunks, then destroys the connection; 0 destroys it before any answer. */
  | { cutAt: number }
  /** Sends this many chunks, then ends the stream cleanly without its end mark. */
  | { endAt: number }
  /** Sends this many chunks, then an error event; `ends` makes it a failed response, in the Responses format. */
  | { errorAt: number; type: string; message?: string; ends?: boolean }
  /** Sends this many chunks, then waits for a release. */
  | { pauseAt: number };

export interface ScriptRequest {
  /** Behind the Chat Completions wire: whom the server plays. */
  provider?: ProviderName;
  api: "anthropic" | "openai" | "openai-responses";
  model: string;
  /** Assistant messages in the request: the same for a repeated or resumed one. */
  round: number;
  /** How many requests for this round of this conversation came so far, this one included. */
  attempt: number;
  /** Requests of all kinds so far, this one included. */
  arrival: number;
  // biome-ignore lint/suspicious/noExplicitAny: a provider's request as it came
  body: any;
}

export type Script = ScriptRound[] | ((request: ScriptRequest) => ScriptRound | Promise<ScriptRound>);

/** Whether a request is the question of an evaluator: is a goal met? For scripts that are functions. */
export function isGoalQuestion({ body }: Pick<ScriptRequest, "body">): boolean {
  const said: unknown[] = body.messages ?? body.input ?? [];
  return JSON.stringify(said.at(-1) ?? "").includes('<note from=\\"goal\\" kind=\\"question\\">');
}
