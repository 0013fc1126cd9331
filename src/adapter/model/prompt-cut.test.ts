/** The lower bound of a prompt's tokens in all scripts: never more than a tokenizer counts, and not much less. */
import { expect, test } from "bun:test";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";
import { cutBelow, leastTokens, textsOfBody } from "./prompt-cut.ts";

/**
 * Of the vocabularies of GPT, Qwen, Gemma, Llama and Mistral, `o200k` needs the fewest tokens for most of these texts.
 */
const TEXTS = {
  English: "All human beings are born free and equal in dignity and rights. It's what they don't say that counts.",
  German: "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft begabt.",
  French: "Tous les êtres humains naissent libres et égaux en dignité et en droits. L'été, j'ai été à l'école.",
  Vietnamese: "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
  Polish: "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
  Russian: "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью.",
  Greek: "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
  Arabic: "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق، وقد وهبوا عقلا وضميرا.",
  Hebrew: "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.",
  Hindi: "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
  Korean: "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
  Chinese: "人人生而自由，在尊严和权利上一律平等。请先阅读整个项目的说明文档，然后修改登录页面的错误提示。",
  "Chinese of long words": "中华人民共和国有限责任公司社会主义核心价值观中国共产党中央委员会",
  Japanese:
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。ありがとうございます。",
  Thai: "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ การพัฒนาเศรษฐกิจของประเทศไทย",
  code: 'for (const [a, b] of x.y_z.foo_bar.bazQux) { print("don\'t", a1b2c3, __init__, self.assertEqual) }',
};

test.each(Object.entries(TEXTS))("%s", (_, text) => {
  const many = `${text}\n`.repeat(20);
  const least = leastTokens(many);
  const counted = Math.min(countO200k(many), countCl100k(many));
  expect(least).toBeLessThanOrEqual(counted);
  expect(least).toBeGreaterThan(counted / 4);
});

test("one sign many times, which a vocabulary may have as one token, counts as little", () => {
  expect(leastTokens("哈".repeat(3_000))).toBe(1);
  expect(leastTokens("a".repeat(3_000))).toBe(1);
});

test("a server that does not count has cut nothing, and neither has one that counts each word", () => {
  const texts = ["plain words ".repeat(5_000)];
  expect([cutBelow(texts, 0), cutBelow(texts, 500), cutBelow(texts, 10_000)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(cutBelow(texts, 4_096)).toBe(10_000);
});

test("of a request that is passed on, what people and tools said is read, and arguments of calls are not", () => {
  const use = { type: "tool_use", id: "t", name: "write", input: { content: "not read" } };
  const results = [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "d" }] }];
  const messages = [
    { role: "user", content: "a" },
    { role: "user", content: [{ type: "text", text: "b" }, null, 5] },
    { role: "assistant", content: [{ type: "text", text: "c" }, use], tool_calls: [{ function: { arguments: "no" } }] },
    { role: "user", content: results },
    { role: "tool", content: "e" },
    null,
  ];
  const body = { system: [{ type: "text", text: "s" }], messages };
  for (const protocol of ["chat", "messages"] as const)
    expect(textsOfBody({ protocol, body })).toEqual(["s", "a", "b", "c", "d", "e"]);
  expect(textsOfBody({ protocol: "gemini", body })).toEqual([]);
});
