;;; framedex-server.el --- Framedex's language server  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Starts the server `framedex serve' with eglot, and sends requests to it.

;;; Code:

(declare-function framedex-ways--led "framedex-ways")

(eval-and-compile
  (unless (and (require 'eglot nil t) (fboundp 'eglot) (fboundp 'eglot-current-server))
    (user-error "Framedex needs eglot, which is built into Emacs 29; before Emacs 29: %s"
                "M-x package-install RET eglot (Debian: apt-get install elpa-eglot)")))

(require 'browse-url)
(require 'cl-lib)
(require 'jsonrpc)
(require 'subr-x)
(require 'url-util)
(require 'xref)

(defgroup framedex nil
  "Recorded JAX and XLA call stacks."
  :group 'tools
  :prefix "framedex-")

(defcustom framedex-command '("framedex" "serve")
  "The program and arguments that start the language server."
  :type '(repeat string))

(defclass framedex-eglot-server (eglot-lsp-server) ()
  :documentation "Framedex as an eglot server.")

(cl-defmethod eglot-client-capabilities ((_server framedex-eglot-server))
  "The capabilities of eglot, plus notes about steps and index changes."
  (plist-put (cl-call-next-method) :experimental '(:framedex (:led t :indexChanges t))))

(cl-defmethod eglot-handle-notification
  ((_server framedex-eglot-server) (_method (eql framedex/led)) &key text ways request at action &allow-other-keys)
  "Show TEXT about the latest step, with WAYS, REQUEST, AT and ACTION."
  (framedex-ways--led text ways request at action))

(defvar framedex-index-changed-hook nil
  "Hook run when the server reports a change of the index.")

(cl-defmethod eglot-handle-notification
  ((_server framedex-eglot-server) (_method (eql framedex/didChangeIndex)) &rest _)
  "Redraw the marks of recorded lines."
  (run-hooks 'framedex-index-changed-hook))

(defun framedex--contact (&rest _)
  "The class and the command of the server, in eglot's format.
Empty and relative entries of PATH and PYTHONPATH stand for the folder of the
buffer, which may be anybody's: neither framedex nor a module of Python is taken
from there.  The user's own programs get their PYTHONPATH back."
  (cons 'framedex-eglot-server
        (if (file-remote-p default-directory) framedex-command (framedex--local-contact))))

(defun framedex--local-contact ()
  "The command that starts the server on this machine."
  (let* ((name (car framedex-command))
         (exec-path (seq-filter #'file-name-absolute-p exec-path))
         (program (if (file-name-directory name) name (or (executable-find name) name)))
         (theirs (getenv "PYTHONPATH"))
         (entries (and theirs (split-string theirs ":")))
         (kept (seq-filter #'file-name-absolute-p entries)))
    `(,@(unless (equal kept entries)
          (list "/usr/bin/env" (concat "PYTHONPATH=" (string-join kept ":"))
                (concat "FRAMEDEX_PROGRAM_PYTHONPATH=" theirs)))
      ,program ,@(cdr framedex-command))))

(add-to-list 'eglot-server-programs '(framedex-trace-mode . framedex--contact))

;;;###autoload
(defun framedex-eglot ()
  "Make framedex the eglot server of this buffer's project and major mode."
  (interactive)
  ;; Frames lead out of the project, into installed libraries and from Python into C++.
  (setq eglot-extend-to-xref t)
  (setq-local eglot-server-programs
              (cons (cons major-mode #'framedex--contact) eglot-server-programs))
  (call-interactively #'eglot))

(defvar framedex--server nil
  "The latest server used, for files that eglot does not manage.")

(defun framedex--server-p (server)
  "Whether SERVER runs and is framedex, or a multiplexer that includes it."
  (and server
       (jsonrpc-running-p server)
       (seq-contains-p (plist-get (plist-get (slot-value server 'capabilities) :executeCommandProvider) :commands)
                       "framedex.openTrace")))

(defun framedex--running-server ()
  "The framedex server for this buffer, or nil if none is running.
That is the one of this buffer, else of its project, else the one that was asked
last, else any."
  (setq framedex--server
        (seq-find #'framedex--server-p
                  `(,(eglot-current-server)
                    ,@(and (fboundp 'eglot--current-project)
                           (gethash (eglot--current-project) eglot--servers-by-project))
                    ,framedex--server
                    ,@(apply #'append (hash-table-values eglot--servers-by-project))))))

(defun framedex--managed-by-p (server)
  "Whether eglot manages this buffer with SERVER."
  (eq (eglot-current-server) server))

(defun framedex--server ()
  "The framedex server for this buffer; an error if none is running."
  (or (framedex--running-server)
      (user-error "No framedex server is running: start it with M-x framedex-eglot")))

(defun framedex--uri ()
  "The URI of the buffer's file."
  (unless buffer-file-name (user-error "This buffer has no file"))
  (concat "file://" (url-hexify-string (file-local-name (file-truename buffer-file-name)) url-path-allowed-chars)))

(defun framedex--document ()
  "The buffer's file as LSP parameters."
  (list :uri (framedex--uri)))

(defun framedex--here ()
  "The document and the line of point as LSP parameters."
  (list :textDocument (framedex--document)
        :position (list :line (1- (line-number-at-pos nil t)) :character 0)))

(defun framedex--ask (method params)
  "Return the server's answer to METHOD with PARAMS."
  (jsonrpc-request (framedex--server) method params))

(defconst framedex--commands
  '(("framedex.index" . framedex-index)
    ("framedex.openTrace" . framedex-open-trace)
    ("framedex.record" . framedex-record)
    ("framedex.selectCapture" . framedex-pick-capture))
  "The server's commands, and the Emacs commands that do the same.")

(defun framedex--why (method params)
  "Why METHOD with PARAMS had an empty answer, and the command that helps."
  (let* ((request (list :request (string-remove-prefix ":" (symbol-name method))))
         (why (framedex--ask :framedex/why (append params request)))
         (action (plist-get (plist-get why :action) :command))
         (command (cdr (assoc action framedex--commands))))
    (concat (plist-get why :text) (and command (format " (M-x %s)" command)))))

(defun framedex--find (method params)
  "Return the server's answer to METHOD with PARAMS.
Where that is nothing, a `user-error' says why."
  (let ((answer (framedex--ask method params)))
    (when (seq-empty-p answer) (user-error "%s" (framedex--why method params)))
    answer))

(defun framedex--execute (command argument done)
  "Have the server run COMMAND with ARGUMENT, without a timeout.
DONE makes of its result what to say; of a failure the server tells by itself."
  (jsonrpc-async-request
   (framedex--server) :workspace/executeCommand (list :command command :arguments (vector argument))
   :timeout most-positive-fixnum
   :success-fn (lambda (result) (when result (message "%s" (funcall done result))))
   :error-fn (lambda (problem) (message "%s: %s" command (plist-get problem :message)))))

(defun framedex--local-file (path)
  "The file name with which Emacs opens PATH, nil if the file is missing.
It is one of this machine, whatever it looks like: no TRAMP."
  (when (let ((file-name-handler-alist nil)) (file-regular-p path))
    (if (find-file-name-handler path 'file-exists-p) (concat "/:" path) path)))

(defun framedex--path (uri)
  "The path in URI."
  (decode-coding-string (url-unhex-string (string-remove-prefix "file://" uri)) 'utf-8))

(defun framedex--visit (uri &optional line)
  "Show LINE, from 0, of the document at URI."
  (framedex--visit-path (framedex--path uri) (or line 0)))

(defun framedex--visit-location (location)
  "Show LOCATION, an LSP location."
  (framedex--visit (plist-get location :uri) (framedex--line location)))

(defun framedex--line (location)
  "The first line of LOCATION, from 0."
  (plist-get (plist-get (plist-get location :range) :start) :line))

(defun framedex--visit-path (path line)
  "Show LINE, from 0, of the file at PATH, so that M-, leads back."
  (let ((file (or (framedex--local-file path) (user-error "There is no file %s" path))))
    (xref-push-marker-stack)
    (find-file file)
    (goto-char (point-min))
    (forward-line line)
    (back-to-indentation)))

(defun framedex--browse (url)
  "Show the page at URL, which comes from an index, in the browser."
  (unless (string-match-p "\\`https?://" url) (user-error "Not a web address: %s" url))
  (browse-url url))

(defun framedex--open-trace (about)
  "Have the server write the trace of a line or a call, ABOUT, and open it."
  (when-let ((uri (framedex--ask :workspace/executeCommand
                                 (list :command "framedex.openTrace" :arguments (vector about))))
              (revert-without-query '("")))      ; it is written anew each time
    (framedex--visit uri)))

(provide 'framedex-server)
;;; framedex-server.el ends here
