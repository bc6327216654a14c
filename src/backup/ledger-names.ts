// Which names a ledger may come with: what lies in a place, or in another store, was perhaps written by somebody else, and a name becomes a folder.
const CONTEXT = /^ctx_[0-9a-z_-]{1,100}$/;
/** The board, memory, those of backups, and what a program keeps beside them: one word, never a path. */
const WORD = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?::[A-Za-z0-9_-]{1,90})?$/;

export const isOurName = (ledger: string): boolean =>
  ledger.startsWith("ctx_") ? CONTEXT.test(ledger) : WORD.test(ledger);

export const STRANGE_NAME = "this is no name that Holdfast gives to a ledger";
