// Live updates and copy buttons; everything else works without scripts.
(function () {
  'use strict';

  function say(text) {
    var state = document.getElementById('live-state');
    if (state && state.textContent !== text) { state.textContent = text; }
  }

  // What must survive an update: the focused link or field, and what was opened or closed.
  function remember(target) {
    var active = document.activeElement;
    var key = null;
    if (active && target.contains(active)) {
      key = active.id ? '#' + CSS.escape(active.id)
        : active.getAttribute('href') ? '[href="' + CSS.escape(active.getAttribute('href')) + '"]' : null;
    }
    var folds = {};
    target.querySelectorAll('details[id]').forEach(function (fold) { folds[fold.id] = fold.open; });
    return { key: key, folds: folds };
  }

  function restore(target, kept) {
    Object.keys(kept.folds).forEach(function (id) {
      var fold = document.getElementById(id);
      if (fold) { fold.open = kept.folds[id]; }
    });
    var active = kept.key && target.querySelector(kept.key);
    if (active) { active.focus({ preventScroll: true }); }
  }

  // A browser opens six connections to a server at most, so pages that nobody sees hold none.
  function follow(target) {
    var source = null;

    function show(event) {
      var selection = window.getSelection();
      if (selection && !selection.isCollapsed && target.contains(selection.anchorNode)) { return; }
      var kept = remember(target);
      target.innerHTML = event.data;
      if (window.htmx) { window.htmx.process(target); }
      restore(target, kept);
      say('Live');
    }

    function open() {
      if (source || document.hidden) { return; }
      source = new EventSource(target.getAttribute('data-live'));
      source.addEventListener('message', show);
      source.addEventListener('trouble', function (event) { say('Not live: ' + event.data); });
      source.addEventListener('error', lost);
    }

    // A browser connects again after a lost connection, but not after a refusal.
    function lost() {
      say('Not live: the server does not answer');
      if (source && source.readyState === EventSource.CLOSED) {
        close();
        setTimeout(open, 5000);
      }
    }

    function close() {
      if (source) { source.close(); source = null; }
    }

    document.addEventListener('visibilitychange', function () { if (document.hidden) { close(); } else { open(); } });
    window.addEventListener('pagehide', close);
    window.addEventListener('pageshow', open);
    open();
  }

  document.querySelectorAll('[data-live]').forEach(follow);

  document.addEventListener('click', function (event) {
    var button = event.target.closest('[data-copy]');
    if (!button || !navigator.clipboard) { return; }
    var source = document.getElementById(button.getAttribute('data-copy'));
    var text = button.getAttribute('data-text') || (source ? source.textContent : '');
    navigator.clipboard.writeText(text).then(function () {
      button.classList.add('copied');
      setTimeout(function () { button.classList.remove('copied'); }, 1500);
    });
  });

  // Only one menu or confirmation is open at a time; Escape closes it.
  document.addEventListener('keydown', function (event) {
    if (event.key !== 'Escape') { return; }
    document.querySelectorAll('details.menu[open], details.confirm[open]').forEach(function (fold) {
      fold.open = false;
      fold.querySelector('summary').focus();
    });
  });

  // Check boxes that choose all others of their table.
  document.addEventListener('change', function (event) {
    var all = event.target.closest('[data-choose]');
    if (!all) { return; }
    document.querySelectorAll(all.getAttribute('data-choose')).forEach(function (box) { box.checked = all.checked; });
  });

  document.documentElement.classList.add('scripted');
})();
