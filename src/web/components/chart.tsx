// A chart of stacked columns as SVG, with a table of the same numbers.

/** @jsxImportSource preact */

import { useWords } from "./words.ts";
import type { Tone } from "./shown.tsx";

interface Series {
  name: string;
  values: readonly number[];
  /** The colour, which is that of a badge with the same state. */
  tone?: Tone;
}

const WIDTH = 720;
const HEIGHT = 200;
/** Room for an amount in the letters of a phone, which are twice as large. */
const LEFT = 84;
const BOTTOM = 20;
const TOP = 8;

export function Chart({
  title,
  labels,
  series,
  format = String,
}: {
  title: string;
  /** One label per column. */
  labels: readonly string[];
  series: readonly Series[];
  format?: (value: number) => string;
}) {
  const words = useWords();
  const totals = labels.map((_, at) =>
    series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  );
  const top = Math.max(...totals, 0);
  const most = top || 1;
  const room = HEIGHT - TOP - BOTTOM;
  const step = (WIDTH - LEFT) / Math.max(labels.length, 1);
  const height = (value: number) => (value / most) * room;
  const every = Math.ceil(labels.length / 6);
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words.chart(title)}>
        {[0, 0.5, 1].map((share) => (
          <g>
            <line
              class="rule"
              x1={LEFT}
              x2={WIDTH}
              y1={HEIGHT - BOTTOM - share * room}
              y2={HEIGHT - BOTTOM - share * room}
            />
            <text x={LEFT - 6} y={HEIGHT - BOTTOM - share * room + 4} text-anchor="end">
              {format(share * top)}
            </text>
          </g>
        ))}
        {labels.map((label, at) => {
          let below = 0;
          return (
            <g>
              {series.map(({ name, values, tone }) => {
                const value = values[at] ?? 0;
                // A day with more refunds than charges has no column, but its number in the table.
                if (value <= 0) return null;
                const y = HEIGHT - BOTTOM - height(below + value);
                below += value;
                return (
                  <rect
                    class={tone}
                    x={LEFT + at * step + step * 0.1}
                    y={y}
                    width={step * 0.8}
                    height={height(value)}
                  >
                    <title>{`${label}: ${name} ${format(value)}`}</title>
                  </rect>
                );
              })}
              {at % every === 0 && (
                <text
                  x={LEFT + (at === 0 ? 0 : at + 0.5) * step}
                  y={HEIGHT - 4}
                  text-anchor={at === 0 ? "start" : "middle"}
                >
                  {label}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      {series.length > 1 && (
        <ul class="legend">
          {series.map(({ name, tone }) => (
            <li>
              <svg viewBox="0 0 10 10" aria-hidden="true">
                <rect class={tone} width="10" height="10" />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{words.table}</summary>
        <table class="list">
          <caption class="hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{words.day}</th>
              {series.map(({ name }) => (
                <th scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, at) => (
              <tr>
                <th scope="row">{label}</th>
                {series.map(({ name, values }) => (
                  <td class="number" data-label={name}>
                    {format(values[at] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
