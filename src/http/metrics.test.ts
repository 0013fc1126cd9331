import { expect, test } from "bun:test";
import { createMetrics } from "./metrics.ts";

test("requests are counted by route, method, status and time, in the text format, whatever a route is called", async () => {
  const metrics = createMetrics();
  metrics.request("GET", "/v1/runs/{id}", 200, 0.002);
  metrics.request("GET", "/v1/runs/{id}", 404, 9);
  metrics.request("POST", 'a"b\\c\nd', 201, 0.2);
  const text = await metrics.render();
  const lines = text.split("\n");
  expect(lines).toContain('skep_http_requests_total{method="GET",route="/v1/runs/{id}",status="404"} 1');
  expect(lines).toContain('skep_http_requests_total{method="POST",route="a\\"b\\\\c\\nd",status="201"} 1');
  const of = (le: string) =>
    lines
      .find((line) => line.includes(`le="${le}",route="/v1/runs/{id}"`))
      ?.split(" ")
      .at(-1);
  expect([of("0.001"), of("0.005"), of("5"), of("+Inf")]).toEqual(["0", "1", "1", "2"]);
  expect(lines).toContain('skep_http_request_seconds_count{route="/v1/runs/{id}"} 2');
  for (const line of lines) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+({.+})? [\d.e+-]+|)$/);
  expect(text.match(/# TYPE (\w+)/g)?.length).toBe(new Set(text.match(/# TYPE (\w+)/g)).size);
});
