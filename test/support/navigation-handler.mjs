// The handler of pods in the navigation suite: passes what it receives to the test, which runs in the same process.
export default async function handle({ request, response, content, contentType, crawler }) {
  const isMarkup = contentType?.type === 'text/html';
  globalThis.navigationHandled?.({ request, response, title: isMarkup ? content.title : null, crawler });
}
