// The only element of a list.

/** The one element; undefined where there are several, or none. */
export const only = <T>(list: readonly T[] | undefined): T | undefined => (list?.length === 1 ? list[0] : undefined);
