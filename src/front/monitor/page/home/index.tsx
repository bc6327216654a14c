// The first view: what needs a person, then all contexts.
export function Home() {
  return <h1>Needs you</h1>;
}
