// Offers to print once all pictures are there.
addEventListener("load", () => print());
