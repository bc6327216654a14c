// The address of the page as a value that changes: back and forward work as everywhere.
import { useEffect, useState } from "preact/hooks";
import { addressOf, type Route, routeOf } from "./router.ts";

export function useRoute(): Route {
  const [hash, setHash] = useState(() => location.hash);
  useEffect(() => {
    const look = () => setHash(location.hash);
    addEventListener("hashchange", look);
    addEventListener("popstate", look);
    return () => {
      removeEventListener("hashchange", look);
      removeEventListener("popstate", look);
    };
  }, []);
  return routeOf(hash);
}

export function goTo(route: Route): void {
  location.hash = addressOf(route);
}

/** For what changes many times a second, as a scrubber does: no step of "back" for each. */
export function replaceWith(route: Route): void {
  history.replaceState(null, "", addressOf(route));
  dispatchEvent(new PopStateEvent("popstate"));
}
