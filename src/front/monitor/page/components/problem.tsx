// What went wrong, said where it is looked for.

export function Problem({ says, again }: { says: string; again?: (() => void) | undefined }) {
  return (
    <div class="problem" role="status">
      <span class="sign" aria-hidden="true">
        !
      </span>
      <span class="others grow">{says}</span>
      {again && (
        <button type="button" class="small" onClick={again}>
          ask again
        </button>
      )}
    </div>
  );
}
