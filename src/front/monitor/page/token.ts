// The token of the address that `holdfast monitor` printed: kept for this tab, and out of the address as soon as it is read.

const KEPT = "holdfast-token";

export function takeToken(): string | undefined {
  const asked = new URLSearchParams(location.search);
  const given = asked.get("token");
  if (given === null) return sessionStorage.getItem(KEPT) ?? undefined;
  sessionStorage.setItem(KEPT, given);
  asked.delete("token");
  const query = asked.size > 0 ? `?${asked}` : "";
  history.replaceState(null, "", `${location.pathname}${query}${location.hash}`);
  return given;
}
