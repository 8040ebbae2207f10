export const question = 'What is the capital of France?';
