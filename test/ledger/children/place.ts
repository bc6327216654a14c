// The place of a store as a child of a test is given it: a file, or an address with its project.
import type { StorePlace } from "../../../src/ledger/open-store.ts";
import { isServer } from "../../../src/ledger/server-address.ts";

export const placeOf = (text: string): StorePlace =>
  isServer(text) ? { server: text, project: "named-in-the-address" } : { file: text };
