// Looking up by a name that somebody gave: what every object inherits (`constructor`, `__proto__`) is nobody's entry.

/** Undefined where there is no entry of its own. */
export const own = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** The entry, made where there is none. */
export function ownOr<T>(record: Record<string, T>, name: string, make: () => NoInfer<T>): T {
  const known = own(record, name);
  if (known !== undefined) return known;
  const made = make();
  Object.defineProperty(record, name, { value: made, enumerable: true, configurable: true, writable: true }); // not an assignment: of `__proto__` that would keep nothing
  return made;
}

/** Contract: no agent is called so. Mechanisms, those of other programs too, keep what they know of an agent by its name. */
export const isInherited = (name: string): boolean => name in Object.prototype;
