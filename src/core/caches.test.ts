/** Which folders of a home an environment may keep as caches. */
import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { Caches, whyNoCaches } from "./caches.ts";

test("caches of package managers are kept, and nothing that a shell or a tool runs or reads as configuration", () => {
  for (const path of ["~/.npm", "~/.cache/pip", "~/.cargo/registry", "~/go/pkg/mod", "~/.cache/go-build"])
    expect([path, Value.Check(Caches, [path])]).toEqual([path, true]);
  const refused =
    "/root ~ ~/ ~/.. ~/.cache ~/.cache/ ~/.cache/.. ~/.cache/../.ssh ~/.cache/a/b ~/.npm/ ~/.npmrc ~/.ssh ~/.bashrc ~/.config ~/.cargo ~/.cargo/bin ~/.local/bin ~/bin node_modules ./node_modules/.cache .npm ~root/.npm $HOME/.npm";
  for (const path of refused.split(" ")) expect([path, Value.Check(Caches, [path])]).toEqual([path, false]);
  expect(Value.Check(Caches, ["~/.npm\n"])).toBe(false);
  expect(Value.Check(Caches, ["~/.npm", "~/.npm"])).toBe(false);
  expect(
    Value.Check(
      Caches,
      Array.from({ length: 9 }, (_, at) => `~/.cache/${at}`),
    ),
  ).toBe(false);
});

test("a server that keeps nothing says why, and what to do instead", () => {
  expect(whyNoCaches({ sandbox: "docker", dockerHosts: [] }, true)).toBeUndefined();
  expect(whyNoCaches({ sandbox: "auto", dockerHosts: [] }, false)).toContain("take `caches` out");
  expect(whyNoCaches({ sandbox: "process", dockerHosts: [] }, true)).toContain("not work in containers");
  expect(whyNoCaches({ sandbox: "kubernetes", dockerHosts: [] }, true)).toContain("into the image");
  expect(whyNoCaches({ sandbox: "docker", dockerHosts: ["a"] }, true)).toContain("DOCKER_HOSTS");
});
