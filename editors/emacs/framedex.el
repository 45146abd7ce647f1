;;; framedex.el --- Recorded JAX and XLA call stacks through eglot  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.8"))

;;; Commentary:

;; Load this file from your init file.  Trace documents (*.fdtrace) then open in `framedex-trace-mode'; M-x eglot
;; there, and M-. on a frame goes to its source.  In a buffer with a log or a crash text, of whatever format,
;; M-x framedex-eglot does the same.
;;
;; Eglot runs one server per buffer.  In Python, C and C++ buffers M-x framedex-eglot starts framedex as that server;
;; to have it beside pyright or clangd, give eglot an LSP multiplexer that runs both.
;;
;; M-x framedex-step-in, -step-out, -next-stack and -previous-stack go along one recorded stack, from line to line;
;; M-x framedex- TAB lists the other commands.

;;; Code:

(unless (require 'eglot nil t)
  (user-error "Framedex needs eglot: built in from Emacs 29 on, before that in %s"
              "M-x package-install RET eglot (Debian: apt-get install elpa-eglot)"))

(require 'url-util)

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

;; Along one recorded stack, and the server's commands.

(defvar framedex--server nil
  "The server that was asked last: frames lead to files that eglot does not manage.")

(defun framedex--server ()
  "The server to ask."
  (setq framedex--server (or (eglot-current-server) framedex--server
                             (user-error "No server here: M-x framedex-eglot starts it"))))

(defun framedex--document ()
  "The buffer's file, as the server takes it."
  (list :uri (concat "file://" (url-hexify-string (file-truename buffer-file-name) url-path-allowed-chars))))

(defun framedex--here ()
  "The document and the line of point, as the server takes them."
  (list :textDocument (framedex--document)
        :position (list :line (1- (line-number-at-pos nil t)) :character 0)))

(defun framedex--ask (method params)
  "What the server answers to METHOD with PARAMS."
  (jsonrpc-request (framedex--server) method params))

(defun framedex--execute (command argument)
  "Have the server run COMMAND with ARGUMENT, however long that takes."
  (jsonrpc-async-request
   (framedex--server) :workspace/executeCommand (list :command command :arguments (vector argument))
   :timeout most-positive-fixnum
   :success-fn (lambda (_) (message "%s: done" command))
   :error-fn (lambda (problem) (message "%s: %s" command (plist-get problem :message)))))

(defun framedex--visit (uri &optional line)
  "Show LINE, from 0, of the document at URI."
  (xref-push-marker-stack)
  (find-file (decode-coding-string (url-unhex-string (string-remove-prefix "file://" uri)) 'utf-8))
  (goto-char (point-min))
  (forward-line (or line 0))
  (back-to-indentation))

(defun framedex--step (method)
  "Go where METHOD leads from point."
  (let* ((reached (framedex--ask method (framedex--here)))
         (location (plist-get reached :location)))
    (if (null location)
        (message "No further frame or stack from here")
      (framedex--visit (plist-get location :uri)
                       (plist-get (plist-get (plist-get location :range) :start) :line))
      (message "%s: frame %d of %d on the way to %s" (plist-get reached :function)
               (1+ (plist-get reached :frame)) (plist-get reached :frames) (plist-get reached :boundary)))))

;;;###autoload
(defun framedex-step-in ()
  "Go one frame inward along the picked stack."
  (interactive)
  (framedex--step :framedex/stepIn))

;;;###autoload
(defun framedex-step-out ()
  "Go one frame outward along the picked stack."
  (interactive)
  (framedex--step :framedex/stepOut))

;;;###autoload
(defun framedex-next-stack ()
  "Go to this line on the next stack through it."
  (interactive)
  (framedex--step :framedex/nextStack))

;;;###autoload
(defun framedex-previous-stack ()
  "Go to this line on the previous stack through it."
  (interactive)
  (framedex--step :framedex/previousStack))

;;;###autoload
(defun framedex-open-trace ()
  "Open the trace of the longest stack through this line."
  (interactive)
  (let ((uri (framedex--ask :workspace/executeCommand
                            (list :command "framedex.openTrace" :arguments (vector (framedex--here))))))
    (when uri (framedex--visit uri))))

;;;###autoload
(defun framedex-index ()
  "Index the captures and sources of this file's project."
  (interactive)
  (framedex--execute "framedex.index" (plist-get (framedex--document) :uri)))

;;;###autoload
(defun framedex-record ()
  "Run this script under the recorder."
  (interactive)
  (framedex--execute "framedex.record" (plist-get (framedex--document) :uri)))

(defun framedex--read-capture (prompt &rest more)
  "The id of a capture that is chosen with PROMPT.
MORE are other choices, as conses of a text and its value."
  (let* ((listed (framedex--ask :framedex/captures (list :textDocument (framedex--document))))
         (captures (mapcar (lambda (capture)
                             (cons (concat (format-time-string "%F %T " (plist-get capture :started))
                                           (plist-get capture :command))
                                   (plist-get capture :id)))
                           (plist-get listed :captures)))
         (choices (append captures more)))
    (cdr (assoc (completing-read prompt choices nil t) choices))))

;;;###autoload
(defun framedex-pick-capture (capture)
  "Have answers be about CAPTURE alone, an id; nil for all."
  (interactive (list (framedex--read-capture "Answers are about: " '("all captures"))))
  (framedex--execute "framedex.selectCapture"
                     (list :textDocument (framedex--document) :capture capture)))

;;;###autoload
(defun framedex-compare-captures (before after)
  "Compare what two captures, BEFORE and AFTER, came to at this line."
  (interactive (list (framedex--read-capture "Before: ") (framedex--read-capture "After: ")))
  (framedex--execute "framedex.compareCaptures"
                     (append (framedex--here) (list :before before :after after))))

(provide 'framedex)
;;; framedex.el ends here
