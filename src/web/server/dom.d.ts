// Types of Bun's streams that are hidden here, because Preact's types load the browser's types instead of Bun's.

interface ReadableStream {
  text(): Promise<string>;
}
