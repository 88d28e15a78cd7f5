// The words of shared components, in the language of the page around them.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ENGLISH, type SiteWords } from "../server/words.ts";

export const Words = createContext<SiteWords>(ENGLISH);

export function useWords(): SiteWords["parts"] {
  return useContext(Words).parts;
}
