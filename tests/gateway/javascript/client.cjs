// OpenAI's JavaScript client against the gateway; prints what it made of each answer as JSON.
// node client.cjs MODULES BASE_URL API_KEY [CASE...]
'use strict';
const { createRequire } = require('node:module');

const [modules, baseURL, apiKey, ...chosen] = process.argv.slice(2);
const OpenAI = createRequire(`${modules}/package.json`)('openai');
const { APIError } = OpenAI;

const model = 'smollm2';
const messages = [{ role: 'user', content: 'What is the capital of France?' }];
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const colour = {
  type: 'json_schema',
  json_schema: {
    name: 'colour',
    strict: true,
    schema: {
      type: 'object',
      properties: { colour: { type: 'string' } },
      required: ['colour'],
      additionalProperties: false,
    },
  },
};
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 120_000 });
// Which recording the stand-in engine answers with; the real one takes no notice of it.
const from = (name) => ({ headers: { 'x-recording': name } });
const limits = { temperature: 0, max_tokens: 64 };

const cases = {
  async chat() {
    const answer = await client.chat.completions.create({ model, messages, ...limits });
    const [choice] = answer.choices;
    return { text: choice.message.content, reason: choice.finish_reason,
      has_usage: answer.usage.completion_tokens > 0, has_id: Boolean(answer._request_id) };
  },
  async stream() {
    const asked = { model, messages, stream: true, ...limits };
    const stream = await client.chat.completions.create(asked);
    let text = '', counted = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta?.content ?? '';
      counted += chunk.usage ? 1 : 0;
    }
    return { text, usages: counted };
  },
  async stream_with_usage() {
    const options = { include_usage: true };
    const asked = { model, messages, stream: true, stream_options: options, ...limits };
    let last;
    for await (const chunk of await client.chat.completions.create(asked)) last = chunk;
    return { choices: last.choices.length, has_usage: last.usage.completion_tokens > 0 };
  },
  async stream_helper() {
    const stream = client.chat.completions.stream({ model, messages, ...limits });
    let deltas = 0;
    stream.on('content', () => { deltas += 1; });
    const final = await stream.finalChatCompletion();
    return { text: final.choices[0].message.content, has_deltas: deltas > 1 };
  },
  async tool() {
    const asked = { model, messages, tools: [weather], tool_choice: 'required', ...limits };
    const answer = await client.chat.completions.create(asked, from('chat-tools-required'));
    const [call] = answer.choices[0].message.tool_calls;
    JSON.parse(call.function.arguments);
    return { name: call.function.name, type: call.type };
  },
  async tool_stream() {
    const asked = { model, messages, tools: [weather], tool_choice: 'required', ...limits };
    const stream = client.chat.completions.stream(asked, from('chat-tools-required-stream'));
    const final = await stream.finalChatCompletion();
    const [call] = final.choices[0].message.tool_calls;
    JSON.parse(call.function.arguments);
    return { name: call.function.name };
  },
  async schema() {
    const asked = { model, messages, response_format: colour, ...limits };
    const answer = await client.chat.completions.parse(asked, from('chat-json-schema'));
    return { kind: typeof answer.choices[0].message.parsed.colour };
  },
  async responses() {
    const asked = { model, input: messages[0].content, temperature: 0, max_output_tokens: 48 };
    const whole = await client.responses.create(asked);
    const kinds = [];
    let text = '';
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      kinds.push(event.type);
      text += event.type === 'response.output_text.delta' ? event.delta : '';
    }
    return { text: whole.output_text, streamed: text, first: kinds[0], last: kinds.at(-1) };
  },
  async models() {
    const listed = [];
    for await (const one of client.models.list()) listed.push(one.id);
    return { listed: listed.includes(model), shown: (await client.models.retrieve(model)).id };
  },
  wrong_key: () => client.withOptions({ apiKey: 'sk-weir-wrong' }).models.list(),
  unknown_model: () =>
    client.chat.completions.create({ model: 'gpt-9', messages }, from('err-404-model')),
  out_of_range: () => client.chat.completions.create(
    { model, messages, temperature: -1 }, from('err-400-temperature')),
  unknown_route: () => client.images.generate({ model, prompt: 'x' }),
  async dies_in_stream() {
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    let pieces = 0;
    try {
      for await (const _ of stream) pieces += 1;
    } catch (error) {
      return { pieces, kind: error.constructor.name, code: error.code };
    }
    return { pieces, kind: null };
  },
  async leaves() {
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const _ of stream) break;
    return { left: true };
  },
};

async function main() {
  const results = {};
  for (const name of chosen) {
    try {
      results[name] = await cases[name]();
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      results[name] = { kind: error.constructor.name, status: error.status, code: error.code };
    }
  }
  process.stdout.write(JSON.stringify(results));
}

main();
