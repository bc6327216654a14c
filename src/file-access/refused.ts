// The refusal of a tool: a reason for the model, and nothing has happened.
import { HoldfastError } from "../ledger/error.ts";

export const refused = (reason: string): HoldfastError => new HoldfastError("refused", reason);
