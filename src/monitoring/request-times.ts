// Histogram of request durations by method, route and status. prom-client's own histogram would cost a read more time
// than all other monitoring. Here a request costs three look-ups and three additions; the rest is computed at the
// scrape.

import { Histogram, type MetricObjectWithValues, type MetricValueWithName } from "prom-client";

type Label = "method" | "route" | "status" | "le";
type Value = MetricValueWithName<Label>;

interface Series {
  /** Non-cumulative bucket counts; the last one is +Inf. */
  buckets: number[];
  sum: number;
}

export interface RequestTimes {
  /** The metric for prom-client's registry. */
  metric: Histogram<Label>;
  record(method: string, route: string, status: number, seconds: number): void;
  /** Begins a series at 0. */
  expect(method: string, route: string, status: number): void;
}

export function createRequestTimes(name: string, help: string, limits: number[]): RequestTimes {
  const methods = new Map<string, Map<string, Map<number, Series>>>();
  const seriesOf = (method: string, route: string, status: number): Series => {
    let routes = methods.get(method);
    if (!routes) methods.set(method, (routes = new Map()));
    let statuses = routes.get(route);
    if (!statuses) routes.set(route, (statuses = new Map()));
    let series = statuses.get(status);
    if (!series) {
      statuses.set(status, (series = { buckets: [...limits.map(() => 0), 0], sum: 0 }));
    }
    return series;
  };
  const labelNames = ["method", "route", "status"] as const;
  const settings = { name, help, labelNames, buckets: limits, registers: [] };
  const described = new Histogram(settings);
  class Times extends Histogram<Label> {
    override async get(): Promise<MetricObjectWithValues<Value>> {
      const values: Value[] = [];
      for (const [method, routes] of methods) {
        for (const [route, statuses] of routes) {
          for (const [status, series] of statuses) {
            values.push(
              ...valuesOf(name, limits, { method, route, status: String(status) }, series),
            );
          }
        }
      }
      return { ...(await described.get()), values };
    }

    /** Called by the registry when it renders the text. */
    getForPromString() {
      return this.get();
    }
  }
  return {
    metric: new Times(settings),
    expect: (method, route, status) => void seriesOf(method, route, status),
    record(method, route, status, seconds) {
      const series = seriesOf(method, route, status);
      let bucket = 0;
      while (bucket < limits.length && seconds > limits[bucket]!) bucket++;
      series.buckets[bucket]! += 1;
      series.sum += seconds;
    },
  };
}

/** Returns the values of a series with cumulative bucket counts, as Prometheus expects them. */
function valuesOf(
  name: string,
  limits: readonly number[],
  labels: { method: string; route: string; status: string },
  { buckets, sum }: Series,
): Value[] {
  let count = 0;
  const upTo = buckets.map((added, index) => {
    count += added;
    const le = limits[index] ?? "+Inf";
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...upTo,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
