// A link of somebody who has no password signs in by itself: programs that only look at links run no script.
document.querySelector("form[data-enter]")?.submit();
