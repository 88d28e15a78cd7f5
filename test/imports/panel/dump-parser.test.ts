// Rows of one table from a MySQL dump: the same however the text is cut into pieces, and nothing that is not understood.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DumpParser, type DumpRow } from "../../../src/imports/panel/dump-parser.ts";

function rowsOf(text: string, size = text.length, table = "users"): DumpRow[] {
  const parser = new DumpParser("panel.sql", table);
  const rows: DumpRow[] = [];
  for (let at = 0; at < text.length; at += size)
    rows.push(...parser.push(text.slice(at, at + size)));
  parser.end();
  return rows;
}

const DUMP = `-- phpMyAdmin SQL Dump; it's not a statement
# another comment with a ' quote
/*!40101 SET NAMES utf8mb4 */;
SET time_zone = "+00:00";
CREATE TABLE \`other\` (\`a\` int, \`b\` text COMMENT 'x;y''z');
INSERT INTO \`other\` VALUES (1,'users; INSERT INTO \`users\` VALUES (9)');
DELIMITER ;;
CREATE TRIGGER x BEFORE INSERT ON users FOR EACH ROW BEGIN SELECT 1; END ;;
DELIMITER ;
CREATE TABLE IF NOT EXISTS \`users\` (
  \`id\` int(11) NOT NULL DEFAULT '0',
  \`name\` varchar(20) COMMENT 'a, (b)',
  \`balance\` decimal(15,4) DEFAULT 0.0000,
  PRIMARY KEY (\`id\`)
) ENGINE=InnoDB;
LOCK TABLES \`users\` WRITE;
INSERT INTO \`users\` VALUES (1,'it''s \\'q\\' \\\\ \\n;),(',1.5000),(2,NULL,-3),
(3,0x414243,1e5), -- a comment
(4,_binary 'x;y',0), /* and ' another */ (5,"double \\" quotes",-0.5);
INSERT IGNORE INTO shop.users (\`balance\`,\`id\`, \`name\`) VALUES
(5,'6','');
UNLOCK TABLES;
`;

const EXPECTED = [
  { id: "1", name: "it's 'q' \\ \n;),(", balance: "1.5000" },
  { id: "2", name: "", balance: "-3" },
  { id: "3", name: "ABC", balance: "1e5" },
  { id: "4", name: "x;y", balance: "0" },
  { id: "5", name: 'double " quotes', balance: "-0.5" },
  { id: "6", name: "", balance: "5" },
];

test.each([1, 2, 3, 7, 64, 100_000])(
  "a dump in pieces of %d characters has the same rows",
  (size) => {
    const rows = rowsOf(DUMP, size);
    expect(rows.map(({ cells }) => cells)).toEqual(EXPECTED);
    expect(rows.map(({ line }) => line)).toEqual([17, 17, 18, 19, 19, 21]);
  },
);

const written = (value: string) =>
  `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n").replaceAll("\0", "\\0")}'`;

test("any texts are read as mysqldump writes them, whatever the pieces", () => {
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 12 }), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 40 }), (values, size) => {
      const rows = values.map((value, index) => `(${index},${written(value)})`).join(",");
      const dump = `INSERT INTO \`users\` (\`id\`,\`text\`) VALUES ${rows};\n`;
      expect(rowsOf(dump, size).map(({ cells }) => cells["text"]!)).toEqual(values);
    }),
  );
});

describe("what is not understood ends the import, with the line", () => {
  const COLUMNS = "INSERT INTO `users` (`id`,`a`) VALUES ";
  const WRONG: [title: string, dump: string, says: string][] = [
    ["too few values", `${COLUMNS}(1,2),\n(3);`, "line 2: a row has 1 values, but the table has 2 columns"],
    ["too many values", `${COLUMNS}(1,2,3);`, "line 1: a row has 3 values"],
    ["a function", `${COLUMNS}(1,NOW());`, "a value is neither text nor a number nor NULL"],
    ["a number that goes on as a word", `${COLUMNS}(1,12abc);`, "a number is malformed"],
    ["an INSERT … SELECT", "INSERT INTO users (id) SELECT 1;", "only INSERT … VALUES can be read"],
    ["no columns at all", "INSERT INTO users VALUES (1);", "the columns of users are not known"],
    ["rows without a comma", `${COLUMNS}(1,2) (3,4);`, "expected , or ; after a row"],
    ["a file that was cut off", `${COLUMNS}(1,'abc`, "the file ends inside a statement"],
    ["a file that was cut off between rows", `${COLUMNS}(1,2),`, "the file ends inside a statement"],
    ["a value of two megabytes", `${COLUMNS}(1,'${"x".repeat(2 * 1024 * 1024)}');`, "too large"],
  ]; // prettier-ignore
  test.each(WRONG)("%s", (_, dump, says) => {
    expect(() => rowsOf(dump, 1 << 20)).toThrow(says);
  });
});

test("statements of other tables are skipped whatever is in them", () => {
  expect(
    rowsOf("INSERT INTO `other` SELECT f(x), 'a;b' FROM `c;d`; DROP TABLE `users`;\n"),
  ).toEqual([]);
});
