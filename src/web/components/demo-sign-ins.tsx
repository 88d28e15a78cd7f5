// The sign-ins of a demo, on its sign-in pages.

/** @jsxImportSource preact */

import type { DemoSite } from "../server/demo.ts";
import { useWords } from "./words.ts";

export function DemoSignIns({ demo = null }: { demo?: DemoSite | null | undefined }) {
  const { demo: words } = useWords();
  if (demo === null) return null;
  const { signIns, key } = demo;
  const resets = demo.resets();
  return (
    <div class="notice busy">
      <h2>{words.title}</h2>
      {resets !== null && <p>{words.resets(resets)}</p>}
      {signIns.map(({ name, password, role }) => (
        <p>
          {role}: <code>{name}</code> <code>{password}</code>
        </p>
      ))}
      {key !== null && (
        <p>
          {words.key}: <code>{key}</code>
        </p>
      )}
    </div>
  );
}
