;;; try.el --- A first look at framedex, from this checkout's .venv  -*- lexical-binding: t; -*-

;;; Commentary:

;;     emacs -l editors/emacs/try.el
;;
;; opens the demo with eglot running: M-. goes one frame inward, M-, back; the echo area shows the recorded calls.

;;; Code:

(defvar native-comp-async-report-warnings-errors)

(setq inhibit-startup-screen t
      native-comp-async-report-warnings-errors 'silent) ; what other packages' compilation warns of fills half the frame

(unless (require 'eglot nil t)
  (require 'package)
  (package-initialize))

(let ((root (expand-file-name "../.." (file-name-directory load-file-name))))
  (add-to-list 'load-path (expand-file-name "editors/emacs" root))
  (require 'framedex)
  (setq framedex-command (list (expand-file-name ".venv/bin/framedex" root) "serve"))
  (find-file (expand-file-name "framedex-demo/device_put.py" root))
  (goto-char (point-min))
  (forward-line 7)
  (back-to-indentation)
  (framedex-eglot))

;;; try.el ends here
