// Reads the rows of one table from a MySQL dump, piece by piece: INSERT statements as mysqldump and phpMyAdmin write
// them. It executes nothing. Whatever it does not know in the wanted table's statements is an error, never skipped.
// docs/specification/imports.md#import-dumps.

import { FileError } from "../records.ts";

/** Limit for the text of one row, and of one CREATE TABLE. */
const TEXT_LIMIT = 1024 * 1024;
/** The length of the longest token that is not text. */
const LOOK_AHEAD = 64;

/** A row: its line, and its values as text by column. NULL is an empty text. */
export interface DumpRow {
  line: number;
  cells: Record<string, string>;
}

/** Thrown when the text ends inside a token: more text is needed. */
class Incomplete extends Error {}

const INCOMPLETE = new Incomplete();

type State = "between" | "skip" | "rows";

/** The characters that begin white space or a comment. */
const BLANK_STARTS = " \n\r\t-#/";
const SPACE = /\s*/y;
const WORD = /[A-Za-z_]+/y;
const NUMBER = /[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
/** Matches a `;`, which ends a statement, or the beginning of a text, a name or a comment, where a `;` does not. */
const NOTABLE = /['"`;#]|--[\s]|\/\*/g;
const HEXADECIMAL = /0x([0-9A-Fa-f]*)/y;
const INTRODUCER = /_[A-Za-z0-9]+\s*(?=['"])/y;
const ESCAPES: Readonly<Record<string, string>> = {
  "0": "\0",
  b: "\b",
  n: "\n",
  r: "\r",
  t: "\t",
  Z: "\u001a",
};

export class DumpParser {
  #text = "";
  #at = 0;
  /** The number of the line at `#counted`, the place up to which lines were counted. */
  #line = 1;
  #counted = 0;
  #state: State = "between";
  /** The columns of the wanted table, in the order of its CREATE TABLE; null until one was seen. */
  #declared: string[] | null = null;
  /** The columns of the current INSERT. */
  #columns: string[] = [];
  #rows: DumpRow[] = [];
  #isEnded = false;
  /** The place of the next backslash, as `#backslashFrom` last found it. */
  #backslash = -1;

  /** `file` is the name used in messages. */
  constructor(
    readonly file: string,
    readonly table: string,
  ) {}

  /** Takes the next piece of the dump. Returns the rows that it completes. Throws FileError. */
  push(piece: string): DumpRow[] {
    this.#forget();
    this.#text += piece;
    this.#rows = [];
    for (;;) {
      const from = this.#at;
      try {
        if (!this.#step()) break;
      } catch (error) {
        if (error !== INCOMPLETE) throw error;
        this.#at = from;
        if (this.#text.length - from > TEXT_LIMIT) {
          this.#isEnded = true;
          this.#fail("a statement or row is too large");
        }
        break;
      }
    }
    return this.#rows;
  }

  /** Ends the dump. Throws FileError if it ends inside a statement. */
  end(): void {
    this.#isEnded = true;
    this.push("\n");
    if (this.#state !== "between" || this.#text.slice(this.#at).trim() !== "") {
      this.#fail("the file ends inside a statement: it is not complete");
    }
  }

  /** Drops the text that was read. */
  #forget(): void {
    this.#lineAt(this.#at);
    this.#text = this.#text.slice(this.#at);
    this.#at = 0;
    this.#counted = 0;
    this.#backslash = -1;
  }

  /** Returns the number of the line with this place. Places must be asked for in ascending order. */
  #lineAt(at: number): number {
    for (;;) {
      const found = this.#text.indexOf("\n", this.#counted);
      if (found < 0 || found >= at) return this.#line;
      this.#counted = found + 1;
      this.#line += 1;
    }
  }

  /** Refuses the dump. Near the end of the text it waits for more text instead, because the token may go on there. */
  #fail(problem: string): never {
    if (!this.#isEnded && this.#text.length - this.#at < LOOK_AHEAD) throw INCOMPLETE;
    throw new FileError(`${this.file}, line ${this.#lineAt(this.#at)}: ${problem}`);
  }

  /** Reads one step. Returns whether there may be another. */
  #step(): boolean {
    if (this.#state === "skip") return this.#skipStatement();
    if (this.#state === "rows") return this.#row();
    this.#blanks();
    if (this.#at >= this.#text.length) return false;
    return this.#beginStatement();
  }

  #beginStatement(): boolean {
    const word = this.#match(WORD)?.toUpperCase();
    const isWanted = word === "INSERT" || word === "REPLACE" || word === "CREATE";
    if (word === "DELIMITER") return this.#skipRoutines();
    this.#state = "skip";
    if (!isWanted) return true;
    const from = this.#at;
    try {
      if (word === "CREATE") this.#declaration();
      else this.#insert();
    } catch (error) {
      if (error === INCOMPLETE) this.#state = "between";
      throw error;
    }
    // A statement about something else is skipped from its second word on.
    if (this.#state === "skip") this.#at = from;
    return true;
  }

  /** Skips routines and triggers, which stand between two changes of the delimiter. */
  #skipRoutines(): boolean {
    const end = /^DELIMITER ;[ \t]*\r?\n/gm;
    end.lastIndex = this.#at;
    if (!end.test(this.#text)) throw INCOMPLETE;
    this.#at = end.lastIndex;
    return true;
  }

  /** Reads CREATE TABLE of the wanted table, for an INSERT without columns. */
  #declaration(): void {
    if (!this.#keyword("TABLE")) return;
    for (const word of ["IF", "NOT", "EXISTS"]) this.#keyword(word);
    if (!this.#isWantedTable()) return;
    this.#expect("(");
    const columns: string[] = [];
    for (;;) {
      this.#blanks();
      if (this.#peek() !== "`") break;
      columns.push(this.#identifier());
      if (!this.#skipToComma()) break;
    }
    this.#declared = columns;
  }

  /** Skips the rest of a column's definition. Returns whether another follows. */
  #skipToComma(): boolean {
    for (let depth = 0; ;) {
      const character = this.#peek();
      if (character === "'" || character === '"' || character === "`") this.#string();
      else {
        this.#at += 1;
        if (character === "(") depth += 1;
        else if (character === ")" && depth-- === 0) return false;
        else if (character === "," && depth === 0) return true;
      }
    }
  }

  /** Reads an INSERT up to its first row, if it is about the wanted table. */
  #insert(): void {
    for (const word of ["LOW_PRIORITY", "DELAYED", "IGNORE", "INTO"]) this.#keyword(word);
    if (!this.#isWantedTable()) return;
    this.#blanks();
    let columns = this.#declared;
    if (this.#peek() === "(") {
      columns = [];
      do {
        this.#at += 1;
        this.#blanks();
        columns.push(this.#identifier());
        this.#blanks();
      } while (this.#peek() === ",");
      this.#expect(")");
    }
    if (columns === null) {
      this.#fail(
        `the columns of ${this.table} are not known: dump with CREATE TABLE or with column names`,
      );
    }
    if (!this.#keyword("VALUES") && !this.#keyword("VALUE")) {
      this.#fail("only INSERT … VALUES can be read");
    }
    this.#columns = columns;
    this.#state = "rows";
  }

  #isWantedTable(): boolean {
    this.#blanks();
    let name = this.#identifier();
    if (this.#peek() === ".") {
      this.#at += 1;
      name = this.#identifier();
    }
    return name.toLowerCase() === this.table.toLowerCase();
  }

  #row(): boolean {
    this.#blanks();
    const start = this.#at;
    this.#expect("(");
    const values: string[] = [];
    do {
      if (values.length > 0) this.#at += 1;
      this.#blanks();
      values.push(this.#value());
      this.#blanks();
    } while (this.#peek() === ",");
    this.#expect(")");
    this.#blanks();
    const next = this.#peek();
    if (next !== "," && next !== ";") this.#fail("expected , or ; after a row");
    this.#at += 1;
    const { length } = this.#columns;
    if (values.length !== length) {
      this.#fail(`a row has ${values.length} values, but the table has ${length} columns`);
    }
    const cells: Record<string, string> = {};
    for (let index = 0; index < length; index += 1) cells[this.#columns[index]!] = values[index]!;
    this.#rows.push({ line: this.#lineAt(start), cells });
    if (next === ";") this.#state = "between";
    return true;
  }

  #value(): string {
    const character = this.#peek();
    if (character === "'" || character === '"') return this.#string();
    if (character > "0" && character <= "9") return this.#number()!;
    const hexadecimal = this.#match(HEXADECIMAL);
    if (hexadecimal !== null) return Buffer.from(hexadecimal.slice(2), "hex").toString("utf8");
    const number = this.#number();
    if (number !== null) return number;
    if (this.#match(INTRODUCER) !== null) return this.#string();
    const word = this.#match(WORD)?.toUpperCase();
    if (word === "NULL") return "";
    if (word === "TRUE") return "1";
    if (word === "FALSE") return "0";
    return this.#fail("a value is neither text nor a number nor NULL");
  }

  #number(): string | null {
    const number = this.#match(NUMBER);
    if (number === null) return null;
    const next = this.#peek();
    if (next !== "," && next !== ")" && !/[\s/]/.test(next)) this.#fail("a number is malformed");
    return number;
  }

  /** Reads a text in the quotes that it begins with. */
  #string(): string {
    const text = this.#text;
    const quote = text[this.#at]!;
    let value = "";
    for (let from = this.#at + 1; ;) {
      const end = text.indexOf(quote, from);
      const escape = quote === "`" ? Infinity : this.#backslashFrom(from);
      const at = Math.min(end < 0 ? Infinity : end, escape);
      if (at + 1 >= text.length) throw INCOMPLETE;
      value += text.slice(from, at);
      const next = text[at + 1]!;
      if (at === escape) value += ESCAPES[next] ?? next;
      else if (next === quote) value += quote;
      else {
        this.#at = at + 1;
        return value;
      }
      from = at + 2;
    }
  }

  /** Returns the place of the next backslash; Infinity if the text has none. Most rows have none. */
  #backslashFrom(from: number): number {
    if (this.#backslash < from) {
      const found = this.#text.indexOf("\\", from);
      this.#backslash = found < 0 ? Infinity : found;
    }
    return this.#backslash;
  }

  #identifier(): string {
    if (this.#peek() === "`") return this.#string();
    const name = this.#match(/[A-Za-z0-9_$]+/y);
    return name ?? this.#fail("a name is missing");
  }

  /** Skips to the end of the statement. Keeps its place between pieces. */
  #skipStatement(): boolean {
    for (;;) {
      NOTABLE.lastIndex = this.#at;
      const found = NOTABLE.exec(this.#text);
      if (!found) {
        // The last characters may begin a comment.
        this.#at = Math.max(this.#at, this.#text.length - 2);
        return false;
      }
      this.#at = found.index;
      const [token] = found;
      if (token === ";") {
        this.#at += 1;
        this.#state = "between";
        return true;
      }
      if (token === "'" || token === '"' || token === "`") this.#string();
      else this.#comment();
    }
  }

  /** Skips white space and comments. */
  #blanks(): void {
    for (;;) {
      const character = this.#text[this.#at];
      // Most often there is nothing to skip.
      if (character !== undefined && !BLANK_STARTS.includes(character)) return;
      this.#match(SPACE);
      if (!/^(?:--(?:\s|$)|#|\/\*)/.test(this.#text.slice(this.#at, this.#at + 3))) return;
      this.#comment();
    }
  }

  #comment(): void {
    const end = this.#text.startsWith("/*", this.#at) ? "*/" : "\n";
    const at = this.#text.indexOf(end, this.#at + (end === "\n" ? 0 : 2));
    if (at < 0) throw INCOMPLETE;
    this.#at = at + end.length;
  }

  #keyword(word: string): boolean {
    this.#blanks();
    const from = this.#at;
    if (this.#match(WORD)?.toUpperCase() === word) return true;
    this.#at = from;
    return false;
  }

  #expect(character: string): void {
    this.#blanks();
    if (this.#peek() !== character) this.#fail(`expected ${character}`);
    this.#at += 1;
  }

  #peek(): string {
    const character = this.#text[this.#at];
    if (character === undefined) throw INCOMPLETE;
    return character;
  }

  /** Reads what the pattern matches here. A match at the end of the text may go on in the next piece. */
  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined || found === "") {
      if (this.#at >= this.#text.length && pattern !== SPACE) throw INCOMPLETE;
      return null;
    }
    if (this.#at + found.length >= this.#text.length && pattern !== SPACE) throw INCOMPLETE;
    this.#at += found.length;
    return found;
  }
}
