const invoices = `id,customer,amount,status,date
INV-1,Acme,1200.50,paid,2026-01-05
INV-2,Bolt,300,unpaid,2026-02-05
INV-3,Acme,450.25,unpaid,2026-03-05
INV-4,Cord,99.75,overdue,2026-03-09
INV-5,Bolt,50,paid,2026-04-01
`;
const orders = `order_no,country,price,quantity,shipped_at
1,France,10,2,2026-01-01
2,Germany,30,1,
3,France,50,4,2026-01-09
4,Spain,120,3,
`;
const flags = `name,Total value,paid
a,10,yes
b,20,no
c,30,no
`;
const names = 'name,city\nAnn,Rome\nBob,Oslo\n';
/** Files of a small office, by their paths. */
export const files = {
  'examples/workspace/invoices.csv': invoices,
  'data/orders.csv': orders,
  'flags.csv': flags,
  'people.csv': names,
  'notes/todo.md': '# Tasks\nTODO: call Ann\nwater the plants\n',
};
/** The path of the invoices among `files`. */
export const path = 'examples/workspace/invoices.csv';
