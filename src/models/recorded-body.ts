// The bytes of a request that was sent once: written by the settings that were recorded with it, whatever model is open now, or none.
import { limitsOf } from "./catalogue.ts";
import type { Body } from "./growing-bytes.ts";
import type { Limits, ModelRequest, WireSettings } from "./model.ts";

/** `id`: as `provider/name`, of the model that was asked. Contract: needs no key and opens nothing. */
export async function recordedBody(id: string, wire: WireSettings, request: ModelRequest): Promise<Buffer> {
  const { head, middle, tail } = await bodyBy(id, wire, request);
  return Buffer.concat([Buffer.from(head), middle, Buffer.from(tail)]);
}

async function bodyBy(id: string, wire: WireSettings, request: ModelRequest): Promise<Body> {
  const { name, images, documents, extra } = wire;
  const limits: Limits = { ...limitsOf(id), images, documents };
  const common = { id, name, limits, ...(extra && { extra }) };
  switch (wire.wire) {
    case "anthropic": {
      const { createAnthropicBody } = await import("./anthropic.ts");
      return createAnthropicBody(common)(request);
    }
    case "openai": {
      const { createOpenAIBody } = await import("./openai.ts");
      const { limitField = "max_tokens", asksUsage = true } = wire;
      return createOpenAIBody(common)(request, { limitField, asksUsage });
    }
    case "openai-responses": {
      const { createOpenAIResponsesBody, unreadableIn } = await import("./openai-responses.ts");
      const unreadable = new WeakSet(unreadableIn(request.items, wire.unreadable));
      return createOpenAIResponsesBody({ ...common, sealed: wire.sealed ?? true, unreadable })(request);
    }
  }
}
