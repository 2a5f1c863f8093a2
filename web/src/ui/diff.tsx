// Lines of a change, as the server gives them: the first letter says what happens to the line.

const kindOf = (line: string): string => (line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "place" : "same");

const most = 400;

/** `title` is the line that says which file it is; the rest are the lines of the change. */
export function Diff({ lines, isOpen = true }: { lines: readonly string[]; isOpen?: boolean }) {
  const [title, ...rest] = lines;
  if (title === undefined) return null;
  return (
    <details class="change" open={isOpen}>
      <summary dir="auto">{title}</summary>
      {rest.length > 0 && (
        <pre class="diff" tabIndex={0} aria-label="Change of the file">
          {rest.slice(0, most).map((line, at) => <span key={at} class={kindOf(line)}>{line + "\n"}</span>)}
          {rest.length > most && <span class="place">… {rest.length - most} more lines</span>}
        </pre>
      )}
    </details>
  );
}
