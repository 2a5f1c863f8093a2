// One function per protocol: reads an answer from a server with the official client and returns the result.
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

const messages = [{ role: 'user', content: 'hi' }];
const parsed = (text) => {
  try {
    return text.trim() ? JSON.parse(text) : {};
  } catch {
    return null;
  }
};

async function chat(url, stream) {
  const client = new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  const body = { model: 'm', messages };
  let choice;
  if (stream) {
    const run = client.chat.completions.stream(body);
    for await (const _ of run);
    choice = run.currentChatCompletionSnapshot?.choices[0] ?? (await run.finalChatCompletion()).choices[0];
  } else {
    choice = (await client.chat.completions.create(body)).choices[0];
  }
  const calls = choice.message.tool_calls ?? [];
  return { text: choice.message.content, refusal: choice.message.refusal, finish_raw: choice.finish_reason,
    tool_calls: calls.map((c) => ({ name: c.function.name, arguments: parsed(c.function.arguments) })) };
}

async function responses(url, stream) {
  const client = new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  const body = { model: 'm', input: 'hi' };
  const response = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
  const content = response.output.filter((i) => i.type === 'message').flatMap((i) => i.content);
  const of = (type, field) => content.filter((c) => c.type === type).map((c) => c[field]).join('');
  const reason = response.incomplete_details?.reason;
  return { text: of('output_text', 'text'), refusal: of('refusal', 'refusal') || null,
    finish_raw: reason ? `${response.status}:${reason}` : response.status,
    tool_calls: response.output.filter((i) => i.type === 'function_call')
      .map((c) => ({ name: c.name, arguments: parsed(c.arguments) })) };
}

async function anthropic(url, stream) {
  const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  const body = { model: 'm', max_tokens: 9, messages };
  const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
  return { text: message.content.filter((b) => b.type === 'text').map((b) => b.text).join(''),
    finish_raw: message.stop_reason,
    tool_calls: message.content.filter((b) => b.type === 'tool_use').map((b) => ({ name: b.name, arguments: b.input })) };
}

async function gemini(url, stream) {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } });
  const body = { model: 'm', contents: 'hi' };
  const chunks = [];
  if (stream) {
    for await (const chunk of await client.models.generateContentStream(body)) chunks.push(chunk);
  } else {
    chunks.push(await client.models.generateContent(body));
  }
  const parts = chunks.flatMap((c) => c.candidates?.[0]?.content?.parts ?? []);
  const finish = chunks.map((c) => c.candidates?.[0]?.finishReason).filter(Boolean).at(-1);
  const blocked = chunks.some((c) => c.promptFeedback?.blockReason) ? 'content_filter' : null;
  return { text: parts.filter((p) => !p.thought).map((p) => p.text ?? '').join(''), finish_raw: finish ?? blocked,
    tool_calls: parts.filter((p) => p.functionCall)
      .map((p) => ({ name: p.functionCall.name, arguments: p.functionCall.args ?? {} })) };
}

export const readers = { 'openai-chat': chat, 'openai-responses': responses, 'anthropic-messages': anthropic,
  'gemini-generate': gemini };
