// Times, tokens and money where they are shown: short, with the whole of it on the title.
import type { TokenCounts } from "../../api.ts";
import { ago, away, counted, moment, money, tokens, tokensIn } from "../format.ts";
import { useNow } from "../parts.tsx";

/** `5 min`; with `says`, `5 min ago` or `in 5 min`. */
export function Ago({ at, says = false }: { at: number; says?: boolean }) {
  const now = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at, now)}>
      {says ? away(at, now) : ago(Math.abs(now - at))}
    </time>
  );
}

/** What is not known, or not known yet. */
export function Unknown() {
  return (
    <span class="quiet-ink">
      <span aria-hidden="true">–</span>
      <span class="unseen">not known</span>
    </span>
  );
}

/** `unpriced`: calls of models without a known price, which are not in it. */
export function Cost({ usd, unpriced = 0 }: { usd: number | undefined; unpriced?: number | undefined }) {
  if (usd === undefined) return <Unknown />;
  if (unpriced === 0) return <span>{money(usd)}</span>;
  const without = `${counted(unpriced, "call")} of models without a known price`;
  return (
    <span title={`${money(usd)}, and ${without}`}>
      {usd > 0 ? `${money(usd)} + ?` : "unknown"}
      <span class="unseen">, {without}</span>
    </span>
  );
}

/** Together; with `both`, in and out apart. */
export function Tokens({ counts, both = false }: { counts: TokenCounts | undefined; both?: boolean }) {
  if (!counts) return <Unknown />;
  const { input, output, cacheRead, cacheWrite } = counts;
  const all = tokensIn(counts);
  const whole = `${tokens(all)} in (${tokens(input)} new, ${tokens(cacheRead)} from the cache, ${tokens(cacheWrite)} into the cache), ${tokens(output)} out`;
  return <span title={whole}>{both ? `${tokens(all)} in, ${tokens(output)} out` : tokens(all + output)}</span>;
}
