// Preact's types bring the browser's, which take the place of Bun's: what Bun's streams have beyond them.

interface ReadableStream {
  text(): Promise<string>;
}
