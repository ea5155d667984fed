// The handler of pods in the navigation suite: tells the test, which runs in the same process, what it was given.
export default async function handle({ request, response, content, contentType, crawler }) {
  const isMarkup = contentType?.type === 'text/html';
  globalThis.navigationHandled?.({ request, response, title: isMarkup ? content.title : null, crawler });
}
