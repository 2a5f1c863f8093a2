// Writes our requests as TypeScript in the types of the official clients, for the compiler to check.
//
//   node types.mjs LINES OUT.ts      LINES: the output of `wire_check --requests`
import fs from 'node:fs';

const [linesFile, out] = process.argv.slice(2);
const kTypes = {
  'openai-chat': 'OpenAI.ChatCompletionCreateParams',
  'openai-responses': 'OpenAI.Responses.ResponseCreateParams',
  'anthropic-messages': 'Anthropic.MessageCreateParams',
  'gemini-generate': 'GeminiBody',
};
let text = `import type Anthropic from '@anthropic-ai/sdk';
import type { Content, Tool } from '@google/genai';
import type OpenAI from 'openai';

/** The client spreads the rest of its parameters over the body by itself. */
interface GeminiBody {
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: unknown;
  generationConfig?: unknown;
}
`;
/** Others add fields of their own. */
const kVendors = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'];
let number = 0;
for (const line of fs.readFileSync(linesFile, 'utf8').split('\n').filter((l) => l.trim()).map((l) => JSON.parse(l))) {
  const type = kTypes[line.api];
  if (type && line.rebuilt && kVendors.includes(line.case.split('/')[0]))
    text += `// ${line.case}#${line.i}\nexport const request${number++}: ${type} = ${JSON.stringify(line.rebuilt)};\n`;
}
fs.writeFileSync(out, text);
console.log(`official clients: ${number} requests to check against their types`);
