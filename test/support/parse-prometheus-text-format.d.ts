// The package has no types of its own. It returns one entry a metric, its values as text.
declare module "parse-prometheus-text-format" {
  export interface ParsedMetric {
    name: string;
    help: string;
    type: "COUNTER" | "GAUGE" | "HISTOGRAM" | "SUMMARY" | "UNTYPED";
    metrics: {
      value?: string;
      labels?: Record<string, string>;
      buckets?: Record<string, string>;
      count?: string;
      sum?: string;
    }[];
  }
  export default function parse(text: string): ParsedMetric[];
}
