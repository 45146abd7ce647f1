;;; framedex.el --- Recorded JAX and XLA call stacks through eglot  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.8"))

;;; Commentary:

;; Load this file from your init file.  Trace documents (*.fdtrace) then open in `framedex-trace-mode'; M-x eglot
;; there, and M-. on a frame goes to its source.  In a buffer with a log or a crash text, of whatever format,
;; M-x framedex-eglot does the same.
;;
;; Eglot runs one server per buffer.  In Python, C and C++ buffers M-x framedex-eglot starts framedex as that server;
;; to have it beside pyright or clangd, give eglot an LSP multiplexer that runs both.

;;; Code:

(unless (require 'eglot nil t)
  (user-error "Framedex needs eglot: built in from Emacs 29 on, before that in %s"
              "M-x package-install RET eglot (Debian: apt-get install elpa-eglot)"))

(defgroup framedex nil
  "Recorded JAX and XLA call stacks."
  :group 'tools)

(defcustom framedex-command '("framedex" "serve")
  "The program and arguments that start the language server."
  :type '(repeat string))

;;;###autoload
(define-derived-mode framedex-trace-mode text-mode "Trace"
  "Major mode for framedex trace documents: one stack frame per line."
  (setq buffer-read-only t)
  (setq truncate-lines t))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.fdtrace\\'" . framedex-trace-mode))

(put 'framedex-trace-mode 'eglot-language-id "framedex-trace")

(add-to-list 'eglot-server-programs
             `(framedex-trace-mode . ,(lambda (&rest _) framedex-command)))

;;;###autoload
(defun framedex-eglot ()
  "Make framedex the eglot server of this buffer's project and major mode."
  (interactive)
  ;; Frames lead out of the project: into installed libraries, from Python into C++.
  (setq eglot-extend-to-xref t)
  (setq-local eglot-server-programs
              (cons (cons major-mode framedex-command) eglot-server-programs))
  (call-interactively #'eglot))

(provide 'framedex)
;;; framedex.el ends here
