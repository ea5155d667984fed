import { describe, expect, it } from 'vitest';
import { completionsOf } from './ask.js';

describe('the address that a model is asked at', () => {
  it.each([
    ['https://models.example/v1', 'https://models.example/v1/chat/completions'],
    ['https://models.example/v1/', 'https://models.example/v1/chat/completions'],
    ['https://models.example', 'https://models.example/chat/completions'],
    ['https://models.example/v1/chat/completions', 'https://models.example/v1/chat/completions'],
    ['https://models.example/v1?api-version=2', 'https://models.example/v1/chat/completions?api-version=2'],
    ['https://models.example/chat/completions?key=k', 'https://models.example/chat/completions?key=k'],
  ])('is under %s', (base, url) => {
    expect(completionsOf(base)).toBe(url);
  });
});
