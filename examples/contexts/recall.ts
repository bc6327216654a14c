// What an agent said and did, read by a program: any part by its name, or by words. Nobody is held up by it.
import { openContexts } from "../../src/contexts.ts";

export async function recallFrom(state: string, id: string) {
  const contexts = await openContexts({ state });
  const context = await contexts.get(id);
  const { hits } = await context.recall({ query: "no such table", tool: "bash" }); // the newest first
  const places = hits.map(({ ref, line, end }) => `${ref}, line ${line}: ${end?.outcome}`);
  const said = await context.recall("u1");
  const wrong = await context.recall("alice/c17", { offset: 1, limit: 20 }).catch((error: Error) => error.message);
  await contexts.close();
  return { places, said: said.content, wrong };
}
