// What Today adds to a page that works without it.
