// The id of a context as the program that chose it knows it.

export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const PREFIX = "ctx_";

/** As the program that chose it knows it; any other context by its own id. */
export const sessionIdOf = (context: string): string =>
  UUID.test(context.slice(PREFIX.length)) ? context.slice(PREFIX.length) : context;
