// Markdown as elements. No HTML is ever made from text: HTML in it is shown as text, an image as a link, and a link
// only if it leads to the web or to mail.
import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";

const longest = 200_000;

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  let target: URL;
  try {
    target = new URL(href);
  } catch {
    return <span title={href}>{children}</span>;
  }
  if (!/^(https?|mailto):$/.test(target.protocol)) return <span title={href}>{children}</span>;
  return (
    <a href={target.href} title={target.href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

const unescaped = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[name] ?? "");

function list(tokens: Token[] | undefined): ComponentChildren {
  return tokens?.map((token, at) => <Part key={at} token={token} />);
}

function Table({ table }: { table: Tokens.Table }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{table.header.map((cell, at) => <th key={at} scope="col">{list(cell.tokens)}</th>)}</tr>
        </thead>
        <tbody>
          {table.rows.slice(0, 500).map((row, at) => (
            <tr key={at}>{row.map((cell, column) => <td key={column}>{list(cell.tokens)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Part({ token }: { token: Token }) {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <p class={`heading level${(token as Tokens.Heading).depth}`}>{list(token.tokens)}</p>;
    case "paragraph":
      return <p>{list(token.tokens)}</p>;
    case "blockquote":
      return <blockquote>{list(token.tokens)}</blockquote>;
    case "list": {
      const items = (token as Tokens.List).items.map((item, at) => <li key={at}>{list(item.tokens)}</li>);
      const start = Number((token as Tokens.List).start) || 1;
      return (token as Tokens.List).ordered ? <ol start={start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "code":
      return <pre tabIndex={0}>{(token as Tokens.Code).text}</pre>;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "strong":
      return <strong>{list(token.tokens)}</strong>;
    case "em":
      return <em>{list(token.tokens)}</em>;
    case "del":
      return <del>{list(token.tokens)}</del>;
    case "codespan":
      return <code>{unescaped((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={(token as Tokens.Link).href}>{list(token.tokens)}</Link>;
    case "image":
      return <Link href={(token as Tokens.Image).href}>[image: {(token as Tokens.Image).text || "without a name"}]</Link>;
    case "checkbox":
      return <>{(token as Tokens.Checkbox).checked ? "☑ " : "☐ "}</>;
    case "text":
      return <>{token.tokens ? list(token.tokens) : unescaped((token as Tokens.Text).text)}</>;
    default:
      return <>{token.raw}</>;
  }
}

export function Markdown({ text }: { text: string }) {
  if (text.length > longest) return <pre tabIndex={0}>{text}</pre>;
  return <>{list(lexer(text, { gfm: true }))}</>;
}
