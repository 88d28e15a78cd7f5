// What the search box shows while one types: the same results as its page, as a list that the script puts below the box.

/** @jsxImportSource preact */

import { SEARCH } from "../../domain/values/kinds.ts";
import { counted } from "../../domain/values/text.ts";
import { Typed } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import type { Call } from "../server/call.ts";
import { find } from "./find.ts";

export async function searchList(call: Call): Promise<View> {
  const read = SEARCH.read(call.filters.raw("q"));
  const kinds = "value" in read ? await call.read((reader) => find(reader, read.value)) : [];
  const count = kinds.reduce((sum, { found }) => sum + found.length, 0);
  const list = (
    <div id="finds" role="listbox" aria-label="Results" data-count={counted(count, "result")}>
      {kinds.map(({ heading, found }, at) => (
        <div role="group" aria-labelledby={`finds-${at}`}>
          <small id={`finds-${at}`}>{heading}</small>
          {found.map(({ title, text, path }, index) => (
            <div role="option" id={`find-${at}-${index}`} data-href={path}>
              <Typed text={title} />{" "}
              <span>
                <Typed text={text} />
              </span>
            </div>
          ))}
        </div>
      ))}
    </div>
  );
  return {
    title: "Results",
    body: (
      <>
        <h1>Results</h1>
        {list}
      </>
    ),
  };
}
