// What every native adapter is told: which model, where, with which key.
import type { Environment } from "./http-transport.ts";
import type { Limits } from "./model.ts";

export interface AdapterOptions {
  /** The provider's name for the model. */
  name: string;
  /** `provider/name`; the adapter's own provider unless given. */
  id?: string;
  /** Up to and including `/v1`; the provider's own address unless given. */
  baseUrl?: string;
  apiKey?: string;
  headers?: Record<string, string>;
  limits?: Limits;
  /** No byte for this long means `stalled`. */
  stallMs?: number;
  /** Proxies and certificates; the process's own unless given. */
  env?: Environment;
  /** More fields of the request, such as `thinking` or `reasoning_effort`. */
  extra?: Record<string, unknown>;
}
