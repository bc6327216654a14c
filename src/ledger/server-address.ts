// Addresses of servers that keep ledgers, as they are given: what they begin with, whose password they hold, which project they name.

/** What addresses of servers begin with. */
const SERVER = /^rediss?(?:\+sentinel)?:/;

export const isServer = (address: string): boolean => SERVER.test(address);

/** Before the host, or of the Sentinels, in its settings. */
export function hasPassword(address: string): boolean {
  const [place = "", ...settings] = address.split("?");
  return /^[^/]*\/\/[^@]*:[^@]+@/.test(place) || /password/i.test(decoded(settings.join("?")));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The name that an address gives the project: machines that give the same one share its ledgers. */
export const projectIn = (address: string): string | undefined =>
  new URLSearchParams(address.split("?")[1] ?? "").get("project") || undefined;

/** With the name of the project, where it has none. */
export function addressed(address: string, project: string): string {
  if (projectIn(address) !== undefined) return address;
  return `${address}${address.includes("?") ? "&" : "?"}project=${encodeURIComponent(project)}`;
}

/** For people: `instead` stands where a password does. */
export function passwordLeftOut(address: string, instead: string): string {
  const [place = "", ...settings] = address.split("?");
  const shown = place.replace(/^([^/]*\/\/[^@:]*:).+@/, (_, before: string) => `${before}${instead}@`);
  const said = settings.join("?").replace(/((?:^|&)[^=&]*password=)[^&]*/gi, (_, name: string) => name + instead);
  return settings.length === 0 ? shown : `${shown}?${said}`;
}
