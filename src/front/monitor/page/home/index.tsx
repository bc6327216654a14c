// The first view: what needs a person, then all contexts.
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../components/problem.tsx";
import { useWatching } from "../watching.tsx";
import { ContextList } from "./context-list.tsx";
import { addressOfQuery, type ListQuery, queryOf } from "./list-order.ts";
import { Needs } from "./needs.tsx";

export function Home() {
  const { known } = useWatching();
  const [query, setQuery] = useQuery();
  if (!known)
    return (
      <div class="alone">
        <h1>Holdfast</h1>
        <p class="quiet-ink">Reading the contexts…</p>
      </div>
    );
  const { needs, projects } = known;
  return (
    <div class="home">
      <h1 class="unseen">Holdfast</h1>
      {projects.map(
        ({ id, name, problem }) => problem !== undefined && <Problem key={id} says={`${name}: ${problem}`} />,
      )}
      <Needs needs={needs} />
      <ContextList known={known} query={query} onQuery={setQuery} isMain={needs.length === 0} />
    </div>
  );
}

/** In the address, without a step of "back" for each letter. */
function useQuery(): [ListQuery, (query: ListQuery) => void] {
  const [query, setQuery] = useState(() => queryOf(location.hash));
  useEffect(() => {
    const look = () => setQuery(queryOf(location.hash));
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return [
    query,
    (next) => {
      history.replaceState(null, "", addressOfQuery(next));
      setQuery(next);
    },
  ];
}
