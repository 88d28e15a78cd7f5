export function renderPage(document: unknown): { html: string; policy: string } {
  return { html: JSON.stringify(document), policy: "default-src 'none'" };
}
