// Where the page begins: with the token of its address, or with the word where that is to be had.
import { render } from "preact";
import { createClient } from "./client.ts";
import { createKeyboard } from "./keyboard.ts";
import { type PageParts, PartsContext } from "./parts.tsx";
import { Shell } from "./shell.tsx";
import { takeToken } from "./token.ts";
import { WatchingEverything } from "./watching.tsx";

const shown = {
  now: () => document.visibilityState === "visible",
  onChange(listener: () => void) {
    document.addEventListener("visibilitychange", listener);
    return () => document.removeEventListener("visibilitychange", listener);
  },
};

function start(place: HTMLElement): void {
  const token = takeToken();
  if (token === undefined) {
    render(
      <main class="alone">
        <h1>Holdfast</h1>
        <p>
          Open the address that <code>holdfast monitor</code> printed.
        </p>
      </main>,
      place,
    );
    return;
  }
  const parts: PageParts = {
    client: createClient({ token, base: location.origin, shown }),
    keyboard: createKeyboard(),
    announce(says) {
      const spoken = document.getElementById("spoken");
      if (spoken) spoken.textContent = says;
    },
  };
  render(
    <PartsContext.Provider value={parts}>
      <WatchingEverything>
        <Shell />
      </WatchingEverything>
    </PartsContext.Provider>,
    place,
  );
}

const place = document.getElementById("app");
if (place) start(place);
